-- Make a player's next token its only one.
--
-- KEYS[1]  the player: hash; its name is also the channel where the change is published
-- ARGV[1]  hash of the next token
-- ARGV[2]  command that publishes: PUBLISH, or SPUBLISH on a cluster
--
-- Returns 1, or 0 if this is not the player's next token.

if redis.call('HGET', KEYS[1], 'next_token') ~= ARGV[1] then
  return 0
end
redis.call('HSET', KEYS[1], 'token', ARGV[1])
redis.call('HDEL', KEYS[1], 'nonce', 'next_token', 'next_token_at')
if type(redis.pcall(ARGV[2], KEYS[1], '')) == 'table' then
  -- An error: clusters before Redis 7 do not know SPUBLISH.
  redis.call('PUBLISH', KEYS[1], '')
end
return 1
