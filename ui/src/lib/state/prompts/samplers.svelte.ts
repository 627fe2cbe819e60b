import type { LayeredSetting, SamplerPreset, SettingOwner, SettingValue } from "../../api/generated";
import { attempt } from "../attempt";
import type { Api } from "../api";
import { Drafts } from "./drafts.svelte";

interface Fields {
	name: string;
	values: Record<string, SettingValue>;
}

/** The sampler presets. Values missing in a preset keep the value of the place where it is used. */
export class Samplers extends Drafts<SamplerPreset, Fields> {
	/** The settings that a preset can contain. */
	settings = $state.raw<LayeredSetting[]>([]);

	constructor(private readonly api: Api) {
		super({
			api,
			kind: "sampler",
			list: () => api.listSamplerPresets(),
			save: (id, { name, values }) => api.saveSamplerPreset({ id, name, builtIn: false, values }),
			remove: (id) => api.deleteSamplerPreset(id),
			fields: ({ name, values }) => ({ name, values: sorted(values) }),
		});
	}

	/** Loads the settings as they are for `owner`, whose model may lack some of them. */
	loadSettings = (owner: SettingOwner = { scope: "global" }): Promise<boolean> =>
		attempt(this, async () => {
			const { settings } = await this.api.layeredSettings(owner);
			this.settings = settings.filter(({ group, key }) => group === "sampler" && key !== "sampler_preset");
		});

	/** Sets a value. `null` removes it from the preset. */
	set(key: string, value: SettingValue | null): void {
		if (!this.editing) return;
		const others = Object.entries(this.editing.fields.values).filter(([other]) => other !== key);
		this.change({ values: sorted(Object.fromEntries(value === null ? others : [...others, [key, value]])) });
	}
}

/** Sorts the keys, so that presets with equal values have equal JSON. */
function sorted(values: Record<string, SettingValue>): Record<string, SettingValue> {
	return Object.fromEntries(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}
