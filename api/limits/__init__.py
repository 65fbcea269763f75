"""How much a stranger may do: counted by token and by address, told in every answer."""
