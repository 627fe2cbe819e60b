import type { ApiError, RegexScriptRow } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { enabled, fieldsOf, NEW_SCRIPT, withFields, type ScriptFields } from "./script";

/** The user's regex scripts, and the one being edited. */
export class Scripts {
	all = $state.raw<RegexScriptRow[]>([]);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	row = $state.raw<RegexScriptRow | null>(null);
	fields = $state<ScriptFields | null>(null);
	readonly dirty = $derived(this.row !== null && this.fields !== null && (this.row.id === "" || JSON.stringify(this.fields) !== JSON.stringify(fieldsOf(this.row.json))));

	constructor(private readonly api: Api) {}

	load = async (): Promise<void> => {
		await attempt(this, async () => void (this.all = await this.api.listRegexScripts()));
		this.loaded = true;
	};

	open(row: RegexScriptRow): void {
		[this.row, this.fields] = [row, fieldsOf(row.json)];
	}

	create = (): void => this.open({ id: "", name: "", json: NEW_SCRIPT, enabled: true, problem: null });

	close = (): void => {
		[this.row, this.fields] = [null, null];
	};

	save = (): Promise<boolean> =>
		attempt(this, async () => {
			const { row } = this;
			const fields = $state.snapshot(this.fields);
			if (row && fields) this.open(await this.#put({ ...row, name: fields.name.trim(), json: withFields(row.json, fields) }));
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
