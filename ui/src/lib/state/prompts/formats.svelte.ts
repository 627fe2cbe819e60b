import type { ChatFormat } from "../../api/generated";
import type { Api } from "../api";
import { Drafts } from "./drafts.svelte";

interface Fields {
	name: string;
	jinja: string;
	/** Stop sequences, one per line. A line break inside a sequence is written as `\n`. */
	stop: string;
}

export class Formats extends Drafts<ChatFormat, Fields> {
	constructor(api: Api) {
		super({
			api,
			kind: "chatFormat",
			list: () => api.listChatFormats(),
			save: (id, { name, jinja, stop }) => api.saveChatFormat({ id, name, jinja, stop: read(stop), builtIn: false }),
			remove: (id) => api.deleteChatFormat(id),
			fields: ({ name, jinja, stop }) => ({ name, jinja, stop: written(stop) }),
		});
	}
}

const written = (stop: readonly string[]) => stop.map((text) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")).join("\n");

const read = (lines: string) =>
	lines
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => line.replaceAll(/\\(n|\\)/g, (_, letter: string) => (letter === "n" ? "\n" : "\\")));
