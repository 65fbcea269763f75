"""Redis or Valkey, and the records that are stored in it.

- `connect`: `connect` returns a `StoreClient` for REDIS_URL, and the nodes of its channels
- `client`, `fair_client`, `cluster`, `coalescing`: executing commands, in batches and within
  timeouts
- `pubsub`: `Subscriptions` to channels
- `store`: `Store`, typed access to `games` and `players`, read together in one round trip
- `indexes`: `Indexes`, which games a player or the lobby has
- `counters`: the windows of rate limits
- `health`: `StoreHealth`, the condition of the servers
- `findings`, `watch`: what is wrong or risky about the servers; `StoreWatch` logs it
- `codec`, `errors`: decoding of records, and what can be wrong with them or with the store
- `scripts/*.lua`: changes that must be atomic; each file documents its keys and arguments
"""
