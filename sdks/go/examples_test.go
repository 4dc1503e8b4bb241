package punctual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"punctual.dev/punctual-go/api"
	"punctual.dev/punctual-go/punctualtest"
)

// program builds a program of this module from its folder, and returns its command.
func program(t *testing.T, server *punctualtest.Server, folder string) *exec.Cmd {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "program")
	if text, err := exec.Command("go", "build", "-o", binary, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	command := exec.Command(binary)
	command.Env = append(os.Environ(), "PUNCTUAL_URL="+server.URL)
	return command
}

func begun(t *testing.T, command *exec.Cmd) *exec.Cmd {
	t.Helper()
	ok(t, 0, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		if err := command.Wait(); err != nil {
			t.Errorf("a signal ends a worker gracefully: %v", err)
		}
	})
	return command
}

func TestExamples(t *testing.T) {
	server := punctualtest.Start(t)
	for queue, folder := range map[string]string{"mail": "examples/worker", "report": "examples/report"} {
		put(t, server, queue, api.Settings{})
		begun(t, program(t, server, folder))
	}
	push(t, server, "mail", map[string]string{"to": "ada"}, api.NewTask{ID: "m"})
	push(t, server, "report", map[string]int{"pages": 5}, api.NewTask{ID: "r"})
	if task := waited(t, server.Client, "mail", "m"); string(task.Result) != `"sent to ada"` {
		t.Fatal(string(task.Result))
	}
	if task := waited(t, server.Client, "report", "r"); string(task.Result) != `"5 pages"` {
		t.Fatal(string(task.Result))
	}
}

func TestTheReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(ok(t, text, err)), -1)
	example, err := os.ReadFile("examples/worker/main.go")
	_, example_, _ := strings.Cut(string(ok(t, example, err)), "\n")
	if blocks[0][1] != example_ {
		t.Fatal("the worker of README.md is not examples/worker")
	}
	if lines := strings.Count(blocks[0][1], "\n"); lines >= 15 {
		t.Fatalf("the worker has %d lines", lines)
	}
	server := punctualtest.Start(t)
	put(t, server, "mail", api.Settings{})
	begun(t, program(t, server, "examples/worker"))
	folder := ok(t, "examples/readme", os.MkdirAll("examples/readme", 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	ok(t, 0, os.WriteFile(filepath.Join(folder, "main.go"), []byte(blocks[1][1]), 0o600))
	printed, err := program(t, server, folder).Output()
	if told := strings.TrimSpace(string(ok(t, printed, err))); told != `done "sent to ada"` {
		t.Fatal(told)
	}
}
