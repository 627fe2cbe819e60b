import { asApiError } from "../../api/errors";
import type { ApiError, LayeredSetting, SamplerPreset, SettingValue } from "../../api/generated";
import type { Api } from "../api";

interface Editing {
	/** As it is stored; `null` for a new one. */
	was: SamplerPreset | null;
	name: string;
	values: Record<string, SettingValue>;
}

/** The sampler presets, and one of them being edited. What a preset does not hold stays as it is where it is used. */
export class Samplers {
	all = $state.raw<SamplerPreset[]>([]);
	/** The settings that a preset may hold. */
	settings = $state.raw<LayeredSetting[]>([]);
	failure = $state.raw<ApiError | null>(null);
	editing = $state.raw<Editing | null>(null);
	readonly dirty = $derived.by(() => {
		const { editing } = this;
		if (!editing) return false;
		const { was, name, values } = editing;
		return !was || name !== was.name || JSON.stringify(values) !== JSON.stringify(was.values);
	});

	constructor(private readonly api: Api) {}

	load = (): Promise<boolean> =>
		this.#try(async () => {
			const [all, { settings }] = await Promise.all([this.api.listSamplerPresets(), this.api.layeredSettings({ scope: "global" })]);
			this.all = all;
			this.settings = settings.filter(({ group, key }) => key === "context_limit" || (group === "sampler" && key !== "sampler_preset"));
		});

	open(id: string): void {
		const was = this.all.find((preset) => preset.id === id);
		if (was) this.editing = { was, name: was.name, values: sorted(was.values) };
	}

	create = (name: string): void => {
		this.editing = { was: null, name, values: {} };
	};

	duplicate(name: string): void {
		if (this.editing) this.editing = { ...this.editing, was: null, name };
	}

	rename(name: string): void {
		if (this.editing) this.editing = { ...this.editing, name };
	}

	/** `null` leaves the value to whoever uses the preset. */
	set(key: string, value: SettingValue | null): void {
		const { editing } = this;
		if (!editing) return;
		const others = Object.entries(editing.values).filter(([other]) => other !== key);
		this.editing = { ...editing, values: sorted(Object.fromEntries(value === null ? others : [...others, [key, value]])) };
	}

	save = (): Promise<boolean> =>
		this.#try(async () => {
			const { editing } = this;
			if (!editing) return;
			const { was, name, values } = editing;
			const saved = await this.api.saveSamplerPreset({ id: was?.id ?? "", name, values });
			this.all = await this.api.listSamplerPresets();
			this.open(saved.id);
		});

	remove = (preset: SamplerPreset): Promise<boolean> =>
		this.#try(async () => {
			await this.api.deleteSamplerPreset(preset.id);
			this.all = await this.api.listSamplerPresets();
			this.editing = null;
		});

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

/** In one order, so that two with the same values are written alike. */
function sorted(values: Record<string, SettingValue>): Record<string, SettingValue> {
	return Object.fromEntries(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}
