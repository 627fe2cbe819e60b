import { createServer } from "node:http";

const WORDS = 400;
const BETWEEN = 30;

/** A slow OpenAI-compatible endpoint, so that tests can act during a reply. A small model may finish after one word. */
export async function slowEndpoint() {
	const server = createServer((request, response) => {
		if (request.method !== "POST") return response.writeHead(404).end();
		request.resume();
		response.writeHead(200, { "Content-Type": "text/event-stream" });
		const send = (choice) => response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
		let said = 0;
		const speaking = setInterval(() => {
			if (said < WORDS) return send({ delta: { content: `lamp ${++said} ` } });
			send({ delta: {}, finish_reason: "stop" });
			response.end("data: [DONE]\n\n");
		}, BETWEEN);
		response.on("close", () => clearInterval(speaking));
	});
	await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
	const stop = () => {
		server.closeAllConnections();
		server.close();
	};
	return { url: `http://127.0.0.1:${server.address().port}/v1`, stop };
}
