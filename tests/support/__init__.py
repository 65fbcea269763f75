"""What several test modules share.

- `paths`: where the repository and the test programs are.
- `http_client`: the HTTP client of all tests, proofs and benchmarks; `raw_http` sends bytes as
  they are; `event_stream` reads Server-Sent Events.
- `api_client`: players whose responses are checked against the published `document`.
- `service`: a running `ludotheque serve`; `processes`, `ports`, `waiting` and `tools` help it.
- `stores`: a single server, a cluster, or a master with Sentinels; `store_tap` counts round trips,
  `certificates` is the authority for TLS, `stored_games` changes what is stored.
- `fake_clock`, `memory_store`, `memory_worker`: a worker's services under test, without a server.
- `recordings`: whole games that another program played; `worlds`: twin services that differ in
  hidden state only.
- `memory_store`: the store in memory; `memory_worker`: a worker's services on it; `fake_clock`:
  a clock that only the test advances.
- `programs/`: programs that tests run in processes of their own.
"""
