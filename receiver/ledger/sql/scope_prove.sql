-- Fails, and with it the transaction, unless the number is still that of the name: see claim.sql.
SELECT 1 / count(*) FROM hookonce.scope WHERE id = $1 AND name = $2
