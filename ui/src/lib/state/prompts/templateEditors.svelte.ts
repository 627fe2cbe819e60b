import { SvelteMap } from "svelte/reactivity";
import { asApiError } from "../../api/errors";
import type { ApiError, TemplateDocument, TemplateSummary, VariableDoc } from "../../api/generated";
import type { Api } from "../api";
import { child, copy, TemplateEditor } from "./templateEditor.svelte";

/** The keys of templates that are not stored begin with it. */
const NEW = "new ";

/** Templates being edited. Each keeps its draft until it is saved or discarded. */
export class TemplateEditors {
	readonly editors = new SvelteMap<string, TemplateEditor>();
	current = $state("");
	variables = $state.raw<VariableDoc[]>([]);
	readonly editor = $derived(this.editors.get(this.current) ?? null);
	/** Differs between windows, so that their new templates have drafts of their own. */
	#new = Date.now();
	#restored = false;

	constructor(
		private readonly api: Api,
		private readonly failed: (error: ApiError) => void,
	) {}

	/** Shows new templates that were not saved. */
	async restore(): Promise<void> {
		if (this.#restored) return;
		this.#restored = true;
		const drafts = (await this.api.drafts("template", "").catch(() => null)) ?? [];
		for (const { place } of drafts) {
			const key = place.target;
			if (!key.startsWith(NEW) || this.editors.has(key)) continue;
			const editor = new TemplateEditor(this.api, "", key);
			editor.begin({ id: "", name: "", description: "", kind: "roleplay", builtIn: false, changed: false }, "");
			this.editors.set(key, editor);
			await editor.kept.restore("");
		}
	}

	async open(id: string): Promise<void> {
		this.current = id;
		if (this.editors.has(id)) return;
		const editor = new TemplateEditor(this.api, id);
		this.editors.set(id, editor);
		await editor.load();
	}

	/** Creates a template that inherits from `parent`. */
	create = (parent: string, name: string): Promise<void> => this.#begin(parent, (document) => child(document, name), name);

	duplicate = (id: string, name: string): Promise<void> => this.#begin(id, (document) => copy(document, name), name);

	/** Saves the open template. A new template gets its id from the engine. */
	async save(): Promise<boolean> {
		const { editor, current } = this;
		if (!editor || !(await editor.save())) return false;
		if (editor.id !== current) {
			this.editors.delete(current);
			this.editors.set(editor.id, editor);
			this.current = editor.id;
		}
		return true;
	}

	/** Deletes a user's template, or resets a built-in one. Returns a function that undoes it. */
	async remove(summary: TemplateSummary): Promise<(() => Promise<void>) | null> {
		const { id } = summary;
		try {
			const { json } = await this.api.getTemplate(id);
			await this.api.deleteTemplate(id);
			await this.#reopen(id, summary.builtIn);
			return async () => {
				await this.api.saveTemplate(id, json);
				await this.#reopen(id, true);
			};
		} catch (thrown) {
			this.failed(asApiError(thrown));
			return null;
		}
	}

	/** Discards the draft of a template. */
	discard(id: string): void {
		this.editors.get(id)?.close();
		void this.editors.get(id)?.kept.done();
		this.editors.delete(id);
		if (this.current === id) this.current = "";
	}

	loadVariables = async (): Promise<void> => {
		if (this.variables.length > 0) return;
		try {
			this.variables = await this.api.templateVariables();
		} catch (thrown) {
			this.failed(asApiError(thrown));
		}
	};

	async #reopen(id: string, exists: boolean): Promise<void> {
		this.discard(id);
		if (exists) await this.open(id);
	}

	async #begin(id: string, write: (document: TemplateDocument) => string, name: string): Promise<void> {
		try {
			const document = await this.api.getTemplate(id);
			const key = `${NEW}${this.#new++}`;
			const editor = new TemplateEditor(this.api, "", key);
			this.editors.set(key, editor);
			this.current = key;
			editor.begin({ id: "", name, description: "", kind: document.summary.kind, builtIn: false, changed: false }, write(document));
		} catch (thrown) {
			this.failed(asApiError(thrown));
		}
	}
}
