import type { ReadableFormat, ReadableOptions, RegenerateOptions, RenderedChat, Started } from "../../src/lib/api/generated";
import type { MockChat } from "./engine";

/** What versions and documents need from the scripted engine. */
interface Host {
	chat(id: string): MockChat;
	op_regenerate(args: { chat: string }): Started;
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Versions with hints and by other models, and chats as documents, of the scripted engine. */
export class MockVersions {
	/** The options of the last version. */
	wanted: RegenerateOptions | null = null;

	constructor(private readonly host: Host) {}

	op_regenerate_with = ({ chat, wanted }: { chat: string; wanted: RegenerateOptions }): Started => {
		this.wanted = wanted;
		return this.host.op_regenerate({ chat });
	};
	op_render_chat = ({ chat, format, options, last }: { chat: string; format: ReadableFormat; options: ReadableOptions; last: number | null }): RenderedChat => {
		const shown = this.host.chat(chat).messages.filter(({ hidden }) => options.hidden || !hidden).slice(last === null ? 0 : -last);
		const line = ({ name, swipes, selected }: (typeof shown)[number]) => ({ name: options.names ? name : "", text: swipes[selected]?.display?.text ?? swipes[selected]?.text ?? "" });
		const lines = shown.map(line);
		const text =
			format === "html"
				? `<!doctype html><html><head><style>body{font:17px/1.6 serif;margin:2rem;background:#f7f3ec;color:#241e19}b{color:#b4501c}</style></head><body><main>${lines.map(({ name, text }) => `<article><b>${escaped(name)}</b><p>${escaped(text)}</p></article>`).join("")}</main></body></html>`
				: lines.map(({ name, text }) => (name ? `${format === "markdown" ? `**${name}**` : name}: ${text}` : text)).join("\n\n");
		return { text, messages: shown.length, warnings: [] };
	};
}
