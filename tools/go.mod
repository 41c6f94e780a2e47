module linger/tools

go 1.26.0
