-- Remove games from an index.
--
-- KEYS[1]  the index: sorted set of game ids by time of creation
-- KEYS[2]  its expiry times: sorted set of the same ids
-- ARGV     ids of the games
--
-- Returns nothing.

for _, key in ipairs(KEYS) do
  redis.call('ZREM', key, unpack(ARGV))
end
