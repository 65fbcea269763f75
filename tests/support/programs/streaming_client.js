// Creates a player and games at a service, with bodies in pieces: by http's write() and by fetch.
const http = require("http");

const url = process.argv[2];
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function headers(token) {
  const type = { "Content-Type": "application/json" };
  return token ? { ...type, Authorization: `Bearer ${token}` } : type;
}

function pieces(body) {
  const text = JSON.stringify(body);
  return [text.slice(0, 5), text.slice(5)];
}

function byWrite(path, token, body) {
  return new Promise((resolve, reject) => {
    const options = { method: "POST", agent, headers: headers(token) };
    const request = http.request(url + path, options, (response) => {
      let text = "";
      response.on("data", (part) => (text += part));
      response.on("end", () => resolve([response.statusCode, text]));
    });
    request.on("error", reject);
    pieces(body).forEach((piece) => request.write(piece));
    request.end();
  });
}

async function byFetch(path, token, body) {
  const stream = new ReadableStream({
    start(controller) {
      pieces(body).forEach((piece) => controller.enqueue(new TextEncoder().encode(piece)));
      controller.close();
    },
  });
  const how = { method: "POST", headers: headers(token), body: stream, duplex: "half" };
  const response = await fetch(url + path, how);
  return [response.status, await response.text()];
}

async function main() {
  for (const post of [byWrite, byFetch]) {
    const [created, player] = await post("/v1/players", null, { name: "Node", kind: "bot" });
    if (created !== 201) throw new Error(player);
    for (let number = 0; number < 2; number++) {
      const body = { ruleset: "parade", seat_count: 2, options: null };
      const [status, game] = await post("/v1/games", JSON.parse(player).token, body);
      if (status !== 201) throw new Error(game);
    }
  }
  agent.destroy();
  console.log("done");
}

main();
