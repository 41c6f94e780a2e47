module linger/tools

go 1.26.0

require linger v0.0.0

replace linger => ../
