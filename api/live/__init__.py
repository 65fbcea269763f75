"""Waiting for news: long polls and event streams.

- `hub.Hub` has the subscriptions of a worker. It reads the games that a notification is about and
  wakes their waiters. `topics` are what a waiter waits for, and what it finds there.
- `long_polls.LongPolls` and `event_streams.EventStreams` answer the requests.
- `server_sent_events` is the format of streams.
- `quota.Quota` limits how many requests wait in this worker.

A notification only says that there may be news; the stored game decides. A lost notification
delays the news until the next recheck.
"""

MAX_WAIT_SECONDS = 25
"""The longest wait of a poll, well below the 30 seconds after which proxies time out."""
