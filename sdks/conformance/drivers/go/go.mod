module punctual.dev/punctual-go-conformance

go 1.19

require punctual.dev/punctual-go v0.0.0

replace punctual.dev/punctual-go => ../../../go
