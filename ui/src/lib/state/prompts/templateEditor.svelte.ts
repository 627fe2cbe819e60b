import { asApiError } from "../../api/errors";
import type { ApiError, ChatId, PromptReport, RenderedTemplate, TemplateDocument, TemplateProblem, TemplateSection, TemplateSummary } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { Debounce } from "../debounce";
import { keptForm, type KeptForm } from "../keptForm.svelte";

/** State of one template in the editor: its JSON, problems and preview. */
export class TemplateEditor {
	summary = $state.raw<TemplateSummary | null>(null);
	json = $state("");
	problems = $state.raw<TemplateProblem[]>([]);
	rendered = $state.raw<RenderedTemplate | null>(null);
	/** The full prompt that a chat would send with the template; only for chat templates. */
	prompt = $state.raw<PromptReport | null>(null);
	/** Error of the full prompt. */
	promptFailure = $state.raw<ApiError | null>(null);
	/** The sections for the form. The last ones that could be read stay while the JSON has errors. */
	sections = $state.raw<TemplateSection[] | null>(null);
	/** Error of the last attempt to load, save or preview. */
	failure = $state.raw<ApiError | null>(null);
	loading = $state(false);
	saving = $state(false);
	#saved = $state("");
	/** What was typed and not saved. */
	readonly kept: KeptForm;
	readonly dirty = $derived(this.json !== this.#saved);
	/** The template has errors, so it can be neither previewed nor saved. */
	readonly broken = $derived(this.problems.some(({ severity }) => severity === "error"));
	/** Hints about an unchanged built-in template are left out: the user did not write it. */
	readonly shownProblems = $derived(this.summary?.builtIn && !this.summary.changed && !this.dirty ? this.problems.filter(({ severity }) => severity === "error") : this.problems);
	#chat: ChatId | null = null;
	#debounce = new Debounce();
	#asked = 0;

	constructor(
		private readonly api: Api,
		/** Empty for a new template. */
		public id: string,
		/** The target of its draft. */
		key = id,
	) {
		this.kept = keptForm(api, { kind: "template", owner: "", target: key }, (draft) => this.#restore(draft), (error) => (this.failure = error));
	}

	load = async (): Promise<void> => {
		this.loading = true;
		const loaded = await attempt(this, async () => this.#show(await this.api.getTemplate(this.id)));
		this.loading = false;
		if (loaded) await this.kept.restore(this.#saved);
		await this.check();
	};

	/** Starts with JSON that is not stored. */
	begin(summary: TemplateSummary, json: string): void {
		[this.summary, this.json, this.#saved] = [summary, json, ""];
		this.kept.typed(json);
		void this.check();
	}

	type(json: string): void {
		this.json = json;
		this.kept.typed(json);
		this.#debounce.run(this.check);
	}

	/** Changes the JSON by the form, and checks it at once. */
	edit(json: string): Promise<void> {
		this.json = json;
		this.kept.typed(json);
		return this.check();
	}

	/** Sets the chat of the preview. */
	show(chat: ChatId | null): void {
		if (chat === this.#chat) return;
		this.#chat = chat;
		[this.prompt, this.promptFailure] = [null, null];
		this.#debounce.run(this.check);
	}

	/** Checks the template and renders the preview. Only the result of the latest request is used. */
	check = async (): Promise<void> => {
		this.#debounce.cancel();
		const asked = ++this.#asked;
		const { json } = this;
		const chat = this.#chat;
		if (json === "") return;
		try {
			const rendered = chat === null ? null : await this.api.renderTemplate(json, chat);
			const problems = rendered?.problems ?? (await this.api.checkTemplate(json));
			if (asked !== this.#asked) return;
			[this.problems, this.failure] = [problems, null];
			await this.#outline(asked, json);
			// The last valid preview stays while the user types.
			if (this.broken) return;
			this.rendered = rendered;
			if (chat !== null && this.summary?.kind === "roleplay") await this.#assemble(asked, json, chat);
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
	};

	async #outline(asked: number, json: string): Promise<void> {
		const sections = await this.api.templateSections(json).catch(() => null);
		if (asked === this.#asked && sections) this.sections = sections;
	}

	/** Builds the full prompt of the chat, with lore, memories, notes and messages, as if the template were stored. */
	async #assemble(asked: number, json: string, chat: ChatId): Promise<void> {
		try {
			const prompt = await this.api.previewPrompt(chat, "", { templateJson: json });
			if (asked === this.#asked) [this.prompt, this.promptFailure] = [prompt, null];
		} catch (thrown) {
			if (asked === this.#asked) [this.prompt, this.promptFailure] = [null, asApiError(thrown)];
		}
	}

	/** Saves the template. Returns whether it is stored. */
	async save(): Promise<boolean> {
		this.saving = true;
		const { json } = this;
		const done = await attempt(this, async () => {
			const document = await this.api.saveTemplate(this.id, json);
			// Text typed during the request stays.
			if (this.json === json) this.#show(document);
			else [this.id, this.summary, this.#saved] = [document.summary.id, document.summary, document.json];
			await this.kept.done(document.json);
			this.kept.typed(this.json);
		});
		this.saving = false;
		return done;
	}

	close(): void {
		this.#debounce.cancel();
		this.#asked++;
	}

	#restore(draft: string): void {
		this.json = draft;
		if (this.summary?.id === "") this.summary = { ...this.summary, ...nameIn(draft) };
		void this.check();
	}

	#show({ summary, json }: TemplateDocument): void {
		[this.id, this.summary, this.json, this.#saved] = [summary.id, summary, json, json];
	}
}

/** The name in the JSON of a template, if it can be read. */
function nameIn(json: string): { name?: string } {
	try {
		const { name } = JSON.parse(json) as { name?: unknown };
		return typeof name === "string" ? { name } : {};
	} catch {
		return {};
	}
}

/** The JSON of a template that inherits from `parent` and changes nothing yet. */
export function child(parent: TemplateDocument, name: string): string {
	const { schema, version } = JSON.parse(parent.json) as Record<string, unknown>;
	return JSON.stringify({ schema, version, id: "own", name, description: "", extends: parent.summary.id, sections: [] }, null, 2);
}

/** A copy of the template under another name. */
export function copy(document: TemplateDocument, name: string): string {
	return JSON.stringify({ ...(JSON.parse(document.json) as object), id: `${document.summary.id}-copy`, name }, null, 2);
}
