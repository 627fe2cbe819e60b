import { asApiError } from "../../api/errors";
import type { ApiError, PromptReport, RenderedTemplate, TemplateDocument, TemplateProblem, TemplateSummary } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { Later } from "../later";

/** One template being edited: its text, what is wrong with it, and how it comes out for a chat. */
export class TemplateEditor {
	summary = $state.raw<TemplateSummary | null>(null);
	json = $state("");
	problems = $state.raw<TemplateProblem[]>([]);
	rendered = $state.raw<RenderedTemplate | null>(null);
	/** The whole prompt that a chat would send with it; of a template for chats only. */
	prompt = $state.raw<PromptReport | null>(null);
	/** Why there is no whole prompt. */
	promptFailure = $state.raw<ApiError | null>(null);
	/** Why it could not be read, saved or tried out. */
	failure = $state.raw<ApiError | null>(null);
	loading = $state(false);
	saving = $state(false);
	#saved = $state("");
	readonly dirty = $derived(this.json !== this.#saved);
	/** It can be neither previewed nor saved as it is. */
	readonly broken = $derived(this.problems.some(({ severity }) => severity === "error"));
	#chat: string | null = null;
	#later = new Later();
	#asked = 0;

	constructor(
		private readonly api: Api,
		/** Empty for one that is not saved yet. */
		public id: string,
	) {}

	load = async (): Promise<void> => {
		this.loading = true;
		await attempt(this, async () => this.#show(await this.api.getTemplate(this.id)));
		this.loading = false;
		await this.check();
	};

	/** Begins with a text that is nowhere stored. */
	begin(summary: TemplateSummary, json: string): void {
		[this.summary, this.json, this.#saved] = [summary, json, ""];
		void this.check();
	}

	type(json: string): void {
		this.json = json;
		this.#later.run(this.check);
	}

	/** The chat that the preview is made for. */
	show(chat: string | null): void {
		if (chat === this.#chat) return;
		this.#chat = chat;
		[this.prompt, this.promptFailure] = [null, null];
		this.#later.run(this.check);
	}

	/** What is wrong, and how it comes out. Of two askings the later one counts. */
	check = async (): Promise<void> => {
		this.#later.cancel();
		const asked = ++this.#asked;
		const { json } = this;
		const chat = this.#chat;
		if (json === "") return;
		try {
			const rendered = chat === null ? null : await this.api.renderTemplate(json, chat);
			const problems = rendered?.problems ?? (await this.api.checkTemplate(json));
			if (asked !== this.#asked) return;
			[this.problems, this.failure] = [problems, null];
			// While a word is half typed, the last whole preview stays.
			if (this.broken) return;
			this.rendered = rendered;
			if (chat !== null && this.summary?.kind === "roleplay") await this.#assemble(asked, json, chat);
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	/** What the chat would send now, with lore, memories, notes and messages, were this template stored. */
	async #assemble(asked: number, json: string, chat: string): Promise<void> {
		try {
			const prompt = await this.api.previewPrompt(chat, "", { templateJson: json });
			if (asked === this.#asked) [this.prompt, this.promptFailure] = [prompt, null];
		} catch (thrown) {
			if (asked === this.#asked) [this.prompt, this.promptFailure] = [null, asApiError(thrown)];
		}
	}

	/** True when it is stored. */
	async save(): Promise<boolean> {
		this.saving = true;
		const { json } = this;
		const done = await attempt(this, async () => {
			const document = await this.api.saveTemplate(this.id, json);
			// What was typed meanwhile stays.
			if (this.json === json) this.#show(document);
			else [this.id, this.summary, this.#saved] = [document.summary.id, document.summary, document.json];
		});
		this.saving = false;
		return done;
	}

	close(): void {
		this.#later.cancel();
		this.#asked++;
	}

	#show({ summary, json }: TemplateDocument): void {
		[this.id, this.summary, this.json, this.#saved] = [summary.id, summary, json, json];
	}
}

/** The JSON of a template that starts from `parent` and changes nothing yet. */
export function child(parent: TemplateDocument, name: string): string {
	const { schema, version } = JSON.parse(parent.json) as Record<string, unknown>;
	return JSON.stringify({ schema, version, id: "own", name, description: "", extends: parent.summary.id, sections: [] }, null, 2);
}

/** The same template under another name. */
export function copy(document: TemplateDocument, name: string): string {
	return JSON.stringify({ ...(JSON.parse(document.json) as object), id: `${document.summary.id}-copy`, name }, null, 2);
}
