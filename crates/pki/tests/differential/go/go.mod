module blackstart/requests

go 1.19
