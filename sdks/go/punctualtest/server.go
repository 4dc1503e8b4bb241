// Package punctualtest starts a real server for tests, on a free port, with a clock that tests can move.
package punctualtest

import (
	"bufio"
	"context"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	punctual "punctual.dev/punctual-go"
	"punctual.dev/punctual-go/api"
)

const ready = "punctual is ready on "

// Options of a server; the zero value will do.
type Options struct {
	// Durable keeps data over Kill and Restart, until the test ends.
	Durable bool
	// RealTime leaves the clock alone: Advance does not work.
	RealTime bool
	// Args are further arguments of punctual serve.
	Args []string
}

// Server is a server of a test's own.
type Server struct {
	// URL of the server.
	URL string
	// Client of the server.
	Client *punctual.Client

	t         testing.TB
	args      []string
	directory string
	process   *exec.Cmd
}

// Start starts the binary that PUNCTUAL_BIN names, else punctual on the PATH. It ends with the test.
func Start(t testing.TB, options ...Options) *Server {
	t.Helper()
	var given Options
	if len(options) > 0 {
		given = options[0]
	}
	s := &Server{t: t, directory: t.TempDir()}
	store := "memory:"
	if given.Durable {
		store = filepath.Join(s.directory, "data")
	}
	// A restart comes back under the same address.
	s.args = []string{"serve", "--listen", fmt.Sprintf("127.0.0.1:%d", freePort(t)), "--store", store}
	if !given.RealTime {
		s.args = append(s.args, "--dev")
	}
	s.args = append(s.args, given.Args...)
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// Restart starts it, again if it was killed, and waits until it is ready.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	binary := os.Getenv("PUNCTUAL_BIN")
	if binary == "" {
		binary = "punctual"
	}
	logFile := filepath.Join(s.directory, "log")
	written, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer written.Close()
	s.process = exec.Command(binary, s.args...)
	s.process.Dir, s.process.Stderr = s.directory, written
	output, err := s.process.StdoutPipe()
	if err == nil {
		err = s.process.Start()
	}
	if err != nil {
		s.process = nil
		s.t.Fatalf("the server cannot be started, PUNCTUAL_BIN names the binary: %v", err)
	}
	line, _ := bufio.NewReader(output).ReadString('\n')
	if !strings.HasPrefix(line, ready) {
		text, _ := os.ReadFile(logFile)
		s.t.Fatalf("the server did not get ready: %s %s", line, text)
	}
	s.URL = strings.TrimSpace(strings.TrimPrefix(line, ready))
	if s.Client, err = punctual.NewClient(punctual.Options{URL: s.URL}); err != nil {
		s.t.Fatal(err)
	}
}

// Kill ends it as a crash would, with kill -9.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Process.Kill()
		_ = s.process.Wait()
		s.process = nil
	}
}

// Advance moves the clock on, as if the server had slept; it returns when all that fell due was handed out.
func (s *Server) Advance(by time.Duration) time.Time {
	s.t.Helper()
	told, err := s.Client.MoveClock(context.Background(), api.Move{Advance: api.In(by)})
	if err != nil {
		s.t.Fatal(err)
	}
	return told.Now
}

// freePort returns a port that no connection of another program takes while the server is down: they use those above.
func freePort(t testing.TB) int {
	t.Helper()
	numbers := rand.New(rand.NewSource(time.Now().UnixNano()))
	for tries := 0; tries < 200; tries++ {
		port := 10_000 + numbers.Intn(20_000)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no free port between 10000 and 30000")
	return 0
}
