module punctual.dev/punctual-go

go 1.19
