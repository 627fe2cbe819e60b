import { asApiError } from "../api/errors";
import type { ApiError, ChatId, ReadableFormat, ReadableOptions, RenderedChat } from "../api/generated";
import type { Api } from "./api";

/** Number of messages that the preview shows. */
const PREVIEWED = 8;

export const FORMATS: readonly ReadableFormat[] = ["html", "markdown", "text"];
export const PARTS = ["names", "times", "thoughts", "hidden"] as const satisfies readonly (keyof ReadableOptions)[];

/** The parts that a document shows unless the user chooses others. */
export const SHOWN_PARTS: ReadableOptions = { names: true, times: false, thoughts: false, hidden: false };

/** The choices of an export for people, with a preview of the end of the chat. */
export class ChatExport {
	format = $state<ReadableFormat>("html");
	options = $state.raw(SHOWN_PARTS);
	preview = $state.raw<RenderedChat | null>(null);
	failure = $state.raw<ApiError | null>(null);
	#asked = 0;

	constructor(
		private readonly api: Api,
		private readonly chat: ChatId,
	) {}

	async setFormat(format: ReadableFormat): Promise<void> {
		this.format = format;
		await this.load();
	}

	async setPart(part: keyof ReadableOptions, shown: boolean): Promise<void> {
		this.options = { ...this.options, [part]: shown };
		await this.load();
	}

	load = async (): Promise<void> => {
		const asked = ++this.#asked;
		try {
			const preview = await this.api.renderChat(this.chat, this.format, this.options, PREVIEWED);
			if (asked === this.#asked) [this.preview, this.failure] = [preview, null];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** The whole chat as HTML, for the printer. */
	async forPrint(): Promise<string> {
		return (await this.api.renderChat(this.chat, "html", this.options, null)).text;
	}
}
