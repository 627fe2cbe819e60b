import type { Event, ImportProgress, ImportReport, ImportStage } from "../../src/lib/api/generated";

const TOTAL = 2574;

/** A folder of SillyTavern's that comes in step by step, as a scene or a test says. */
export class MockFolder {
	#progress: ImportProgress | null = null;

	constructor(readonly emit: (event: Event) => void) {}

	begin(): void {
		this.reach(0, "looking");
	}

	reach(done: number, stage: ImportStage): void {
		this.#progress = { done, total: stage === "looking" ? 0 : TOTAL, stage };
		this.emit({ event: "importing", progress: this.#progress });
	}

	end(cancelled = false): void {
		this.#progress = null;
		const imported = [...Array(1280).keys()].map((at) => ({ kind: "character", id: `f${at}`, name: `Keeper ${at + 1}`, file: `Keeper ${at + 1}.png`, warnings: [] }));
		const report: ImportReport = {
			imported,
			skipped: [
				{ id: "c1", file: "Mira.png", reason: "Mira is in the library already" },
				{ id: "", file: "themes", reason: "left there, 48 in all: they are the looks of another app" },
			],
			refused: [{ file: "night.jsonl", kind: "noCharacter", reason: "there is no character \"Nobody\" in the library; import the card first" }],
			cancelled,
		};
		this.emit({ event: "importEnded", report });
	}

	op_import_progress = (): ImportProgress | null => this.#progress;

	op_cancel_import = (): void => this.end(true);
}
