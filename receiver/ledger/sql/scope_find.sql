SELECT id FROM hookonce.scope WHERE name = $1
