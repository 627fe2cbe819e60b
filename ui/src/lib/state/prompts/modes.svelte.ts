import type { ApiError, Mode } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { keptForm, type KeptForm } from "../keptForm.svelte";

/** The modes, and the one being edited. */
export class Modes {
	all = $state.raw<Mode[]>([]);
	loaded = $state(false);
	failure = $state.raw<ApiError | null>(null);
	/** The mode being edited; `was` is `null` if it is not stored yet. */
	editing = $state<{ was: Mode | null; name: string; text: string } | null>(null);
	readonly dirty = $derived(this.editing !== null && (this.editing.text !== (this.editing.was?.text ?? "") || this.editing.was === null));

	/** What was typed in the open mode and not saved. */
	kept = $state.raw<KeptForm | null>(null);

	constructor(private readonly api: Api) {}

	load = async (): Promise<void> => {
		await attempt(this, async () => void (this.all = await this.api.listModes()));
		this.loaded = true;
	};

	open(name: string): void {
		const was = this.all.find((mode) => mode.name === name);
		if (was) this.#edit(was, was.name, was.text);
	}

	create = (): void => this.#edit(null, "", "");

	/** Called after each change of the open mode. */
	typed(): void {
		if (this.editing) this.kept?.typed(written(this.editing));
	}

	#edit(was: Mode | null, name: string, text: string): void {
		this.editing = { was, name, text };
		const show = (draft: string) => {
			const kept = JSON.parse(draft) as { name: string; text: string };
			if (this.editing && this.editing.was?.name === was?.name) [this.editing.name, this.editing.text] = [kept.name, kept.text];
		};
		this.kept = keptForm(this.api, { kind: "mode", owner: "", target: was?.name ?? "" }, show, (error) => (this.failure = error));
		void this.kept.restore(written({ name, text }));
	}

	save = (): Promise<boolean> =>
		attempt(this, async () => {
			const { editing } = this;
			if (!editing) return;
			const { name, text } = editing;
			const { kept } = this;
			const saved = await this.api.saveMode({ name, text, builtIn: false, changed: false });
			this.all = await this.api.listModes();
			await kept?.done(written(saved));
			this.open(saved.name);
		});

	/** Deletes a user's mode, or resets a built-in one. Returns the previous mode for undo. */
	async remove(mode: Mode): Promise<Mode | null> {
		const done = await attempt(this, async () => {
			await this.api.deleteMode(mode.name);
			this.all = await this.api.listModes();
			this.editing = null;
			this.open(mode.name);
		});
		return done ? mode : null;
	}

	restore = (mode: Mode): Promise<boolean> =>
		attempt(this, async () => {
			await this.api.saveMode(mode);
			this.all = await this.api.listModes();
			this.open(mode.name);
		});
}

const written = ({ name, text }: { name: string; text: string }): string => JSON.stringify({ name, text });
