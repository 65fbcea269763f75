-- Store a player's next token, unless one is stored already. Both tokens are valid until
-- promote_token.lua runs.
--
-- KEYS[1]  the player: hash
-- ARGV[1]  hash of the current token
-- ARGV[2]  nonce of the next token
-- ARGV[3]  hash of the next token
-- ARGV[4]  time of the offer, in milliseconds
--
-- Returns the nonce of the next token that is stored now, or nil if the player has another
-- current token.

if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then
  return false
end
local nonce = redis.call('HGET', KEYS[1], 'nonce')
if nonce then
  -- Written again, so that WAIT counts the replicas that have it.
  redis.call('HSET', KEYS[1], 'nonce', nonce)
  return nonce
end
redis.call('HSET', KEYS[1], 'nonce', ARGV[2], 'next_token', ARGV[3], 'next_token_at', ARGV[4])
return ARGV[2]
