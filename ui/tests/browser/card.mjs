import { crc32, deflateSync } from "node:zlib";

/** A character card in a small PNG, in the format of other apps. */
export function cardPng(name, greeting) {
	const data = { name, description: `${name} keeps bees.`, personality: "calm", scenario: "", first_mes: greeting, mes_example: "", creator_notes: "", system_prompt: "", post_history_instructions: "", alternate_greetings: [], tags: ["bees"], creator: "test", character_version: "1", extensions: {} };
	const card = Buffer.from(JSON.stringify({ spec: "chara_card_v2", spec_version: "2.0", data })).toString("base64");
	const [width, height] = [60, 80];
	const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, Buffer.from([180, 80, 28]))]);
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 2, 0, 0, 0], 8);
	const chunks = [
		chunk("IHDR", header),
		chunk("tEXt", Buffer.from(`chara\0${card}`, "latin1")),
		chunk("IDAT", deflateSync(Buffer.concat(Array(height).fill(row)))),
		chunk("IEND", Buffer.alloc(0)),
	];
	return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...chunks]);
}

function chunk(type, data) {
	const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(data.length);
	const sum = Buffer.alloc(4);
	sum.writeUInt32BE(crc32(body));
	return Buffer.concat([length, body, sum]);
}
