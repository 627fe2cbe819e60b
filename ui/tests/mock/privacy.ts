import type { PrivacySpace } from "../../src/lib/api/generated";
import type { MockLayers } from "./layers";

/** What the scripted engine keeps about its work, by the settings. */
export class MockPrivacy {
	/** Prompts that were stored before they were switched off. */
	#prompts = 412;
	#logBytes = 38_000;

	constructor(private readonly layers: MockLayers) {}

	/** Deletes what the settings no longer allow. */
	apply(): void {
		if (this.#value("keep_prompts") === "off") this.#prompts = 0;
		if (this.#value("write_log") === false) this.#logBytes = 0;
	}

	/** Whether the prompts of past turns are gone. */
	hasNoPrompts = (): boolean => this.#prompts === 0;

	op_privacy_space = (): PrivacySpace => ({ prompts: this.#prompts, promptBytes: this.#prompts * 31_000, logBytes: this.#logBytes });

	#value(key: string): unknown {
		return this.layers.of({ scope: "global" }).settings.find((setting) => setting.key === key)?.value;
	}
}
