import { asApiError } from "../../api/errors";
import type { ApiError, ChatFormat } from "../../api/generated";
import type { Api } from "../api";

interface Editing {
	/** As it is stored; `null` for a new one. */
	was: ChatFormat | null;
	name: string;
	jinja: string;
	/** Texts that end a reply, a line each, line breaks in them written as `\n`. */
	stop: string;
}

/** The chat formats, and one of them being looked at or edited. */
export class Formats {
	all = $state.raw<ChatFormat[]>([]);
	failure = $state.raw<ApiError | null>(null);
	editing = $state<Editing | null>(null);
	readonly dirty = $derived.by(() => {
		const { editing } = this;
		if (!editing || editing.was?.builtIn) return false;
		const { was, name, jinja, stop } = editing;
		return !was || name !== was.name || jinja !== was.jinja || stop !== written(was.stop);
	});

	constructor(private readonly api: Api) {}

	load = (): Promise<boolean> => this.#try(async () => void (this.all = await this.api.listChatFormats()));

	open(id: string): void {
		const was = this.all.find((format) => format.id === id);
		if (was) this.editing = { was, name: was.name, jinja: was.jinja, stop: written(was.stop) };
	}

	duplicate(name: string): void {
		if (this.editing) this.editing = { ...this.editing, was: null, name };
	}

	save = (): Promise<boolean> =>
		this.#try(async () => {
			const { editing } = this;
			if (!editing) return;
			const { was, name, jinja, stop } = editing;
			const saved = await this.api.saveChatFormat({ id: was?.id ?? "", name, jinja, stop: read(stop), builtIn: false });
			this.all = await this.api.listChatFormats();
			this.open(saved.id);
		});

	/** The format as it was, to undo it with. */
	async remove(format: ChatFormat): Promise<(() => Promise<void>) | null> {
		const done = await this.#try(async () => {
			await this.api.deleteChatFormat(format.id);
			this.all = await this.api.listChatFormats();
			this.editing = null;
		});
		if (!done) return null;
		return async () => {
			await this.#try(async () => {
				await this.api.saveChatFormat(format);
				this.all = await this.api.listChatFormats();
				this.open(format.id);
			});
		};
	}

	async #try(action: () => Promise<void>): Promise<boolean> {
		this.failure = null;
		try {
			await action();
			return true;
		} catch (thrown) {
			this.failure = asApiError(thrown);
			return false;
		}
	}
}

const written = (stop: readonly string[]) => stop.map((text) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")).join("\n");

const read = (lines: string) =>
	lines
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => line.replaceAll(/\\(n|\\)/g, (_, letter: string) => (letter === "n" ? "\n" : "\\")));
