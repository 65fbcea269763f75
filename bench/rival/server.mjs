// A boardgame.io server that keeps its matches in Redis. It prints its port when it listens.
//
//     NODE_ENV=production node server.mjs PATH_OF_THE_REDIS_SOCKET

import { createRequire } from "node:module";
import { Redis } from "ioredis";

import { parade } from "./parade.mjs";

const require = createRequire(import.meta.url);
const { Server } = require("boardgame.io/server");
const { Async } = require("boardgame.io/internal");

const MATCHES = "matches";
const FIELDS = { state: "state", metadata: "metadata", initialState: "initial" };

// A match is a hash of JSON documents, and a list of the entries of its log.
class RedisStorage extends Async {
  constructor(path) {
    super();
    // What is asked for in the same moment is sent together.
    this.redis = new Redis({ path, enableAutoPipelining: true });
  }

  async connect() {
    await this.redis.ping();
  }

  async createMatch(matchID, { initialState, metadata }) {
    const state = JSON.stringify(initialState);
    const fields = { state, metadata: JSON.stringify(metadata), initial: state };
    await Promise.all([
      this.redis.hset(`match:${matchID}`, fields),
      this.redis.sadd(MATCHES, matchID),
    ]);
  }

  async setState(matchID, state, deltalog) {
    const writes = [this.redis.hset(`match:${matchID}`, "state", JSON.stringify(state))];
    if (deltalog?.length) {
      writes.push(this.redis.rpush(`match:${matchID}:log`, ...deltalog.map((each) => JSON.stringify(each))));
    }
    await Promise.all(writes);
  }

  async setMetadata(matchID, metadata) {
    await this.redis.hset(`match:${matchID}`, "metadata", JSON.stringify(metadata));
  }

  async fetch(matchID, wanted) {
    const names = Object.keys(FIELDS).filter((name) => wanted[name]);
    const [values, log] = await Promise.all([
      names.length ? this.redis.hmget(`match:${matchID}`, ...names.map((name) => FIELDS[name])) : [],
      wanted.log ? this.redis.lrange(`match:${matchID}:log`, 0, -1) : [],
    ]);
    const found = Object.fromEntries(
      names.map((name, at) => [name, values[at] === null ? undefined : JSON.parse(values[at])]),
    );
    return wanted.log ? { ...found, log: log.map((each) => JSON.parse(each)) } : found;
  }

  async wipe(matchID) {
    await Promise.all([
      this.redis.del(`match:${matchID}`, `match:${matchID}:log`),
      this.redis.srem(MATCHES, matchID),
    ]);
  }

  async listMatches() {
    return this.redis.smembers(MATCHES);
  }
}

const server = Server({ games: [parade], db: new RedisStorage(process.argv[2]), origins: ["*"] });
const { appServer } = await server.run({ port: 0 });
console.log(`port ${appServer.address().port}`);
process.on("SIGTERM", () => process.exit(0));
