import type { ApiError, RegexScriptRow } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { keptForm, type KeptForm } from "../keptForm.svelte";
import { enabled, fieldsOf, NEW_SCRIPT, withFields, type ScriptFields } from "./script";

/** The user's regex scripts, and the one being edited. */
export class Scripts {
	all = $state.raw<RegexScriptRow[]>([]);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	row = $state.raw<RegexScriptRow | null>(null);
	fields = $state<ScriptFields | null>(null);
	readonly dirty = $derived(this.row !== null && this.fields !== null && (this.row.id === "" || JSON.stringify(this.fields) !== JSON.stringify(fieldsOf(this.row.json))));

	/** What was typed in the open script and not saved. */
	kept = $state.raw<KeptForm | null>(null);

	constructor(private readonly api: Api) {}

	load = async (): Promise<void> => {
		await attempt(this, async () => void (this.all = await this.api.listRegexScripts()));
		this.loaded = true;
	};

	open(row: RegexScriptRow): void {
		[this.row, this.fields] = [row, fieldsOf(row.json)];
		const show = (draft: string) => {
			if (this.row?.id === row.id) this.fields = JSON.parse(draft) as ScriptFields;
		};
		this.kept = keptForm(this.api, { kind: "script", owner: "", target: row.id }, show, (error) => (this.failure = error));
		void this.kept.restore(JSON.stringify(this.fields));
	}

	/** Called after each change of the open script. */
	typed(): void {
		if (this.fields) this.kept?.typed(JSON.stringify($state.snapshot(this.fields)));
	}

	create = (): void => this.open({ id: "", name: "", json: NEW_SCRIPT, enabled: true, problem: null });

	close = (): void => {
		void this.kept?.now();
		[this.row, this.fields, this.kept] = [null, null, null];
	};

	save = (): Promise<boolean> =>
		attempt(this, async () => {
			const { row, kept } = this;
			const fields = $state.snapshot(this.fields);
			if (!row || !fields) return;
			const saved = await this.#put({ ...row, name: fields.name.trim(), json: withFields(row.json, fields) });
			await kept?.done(JSON.stringify(fieldsOf(saved.json)));
			this.open(saved);
		});

	switch = (row: RegexScriptRow, on: boolean): Promise<boolean> =>
		attempt(this, async () => {
			const saved = await this.#put({ ...row, enabled: on, json: enabled(row.json, on) });
			if (this.row?.id === saved.id) this.row = saved;
		});

	/** Moves a script one position earlier (-1) or later (1). Each script processes the output of the one before. */
	move = (row: RegexScriptRow, by: -1 | 1): Promise<boolean> =>
		attempt(this, async () => {
			const ids = this.all.map(({ id }) => id);
			const [from, to] = [ids.indexOf(row.id), ids.indexOf(row.id) + by];
			if (from < 0 || to < 0 || to >= ids.length) return;
			ids.splice(to, 0, ...ids.splice(from, 1));
			this.all = await this.api.orderRegexScripts(ids);
		});

	remove = (row: RegexScriptRow): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.deleteRegexScript(row.id);
			this.all = await this.api.listRegexScripts();
			if (this.row?.id === row.id) this.close();
		});

	restore = (row: RegexScriptRow): Promise<boolean> => attempt(this, async () => void (await this.#put(row)));

	async #put(row: RegexScriptRow): Promise<RegexScriptRow> {
		const saved = await this.api.saveRegexScript(row);
		this.all = await this.api.listRegexScripts();
		return saved;
	}
}
