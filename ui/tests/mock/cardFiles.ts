import type { ApiError, CardAsset } from "../../src/lib/api/generated";

const asset = (at: number, over: Partial<CardAsset>): CardAsset => ({ id: `${at}-f`, kind: "emotion", name: "", ext: "png", place: { at: "here" }, shows: true, ...over });

/** The card files of the scripted engine. All cards share one list. */
export class MockCardFiles {
	#all = [
		asset(0, { kind: "icon", name: "main", place: { at: "own" }, shows: false }),
		asset(1, { name: "joy" }),
		asset(2, { name: "A grief that nobody in the town has a name for, and which is therefore never spoken of", ext: "webp" }),
		asset(3, { kind: "background", name: "main", place: { at: "elsewhere", uri: "https://pictures.example/of/the/hill/town/in/a/winter/that/does/not/end/main.png" }, shows: false }),
		asset(4, { kind: "x_song", name: "The bell", ext: "ogg" }),
		asset(5, { name: "anger", place: { at: "missing" }, shows: false }),
	];
	#next = 10;

	op_card_assets = () => this.#all;
	op_show_card_asset = ({ id }: { id: string }) => (this.#find(id).ext === "ogg" ? null : id === "1-f" ? "c2" : "c4");
	op_card_asset_picture = this.op_show_card_asset;
	op_add_card_asset = ({ kind, file }: { kind: string; file: string }) => {
		const [name = "", ext = "unknown"] = file.split(".");
		this.#all = [...this.#all, asset(this.#next++, { kind, name, ext })];
		return this.#all;
	};
	op_update_card_asset = ({ id, kind, name }: { id: string; kind: string; name: string }) => {
		const known = this.#find(id);
		if (kind === "icon" && name === "main" && known.name !== "main") throw { kind: "badInput", message: "The card already has a main icon.", hint: "Change the character's picture instead." } satisfies ApiError;
		this.#all = this.#all.map((one) => (one === known ? { ...one, kind, name } : one));
		return this.#all;
	};
	op_remove_card_asset = ({ id }: { id: string }) => {
		const before = JSON.stringify(this.#all);
		const known = this.#find(id);
		this.#all = this.#all.filter((one) => one !== known);
		return before;
	};
	op_restore_card_asset = ({ removed }: { removed: string }) => (this.#all = JSON.parse(removed) as CardAsset[]);

	#find(id: string): CardAsset {
		const known = this.#all.find((one) => one.id === id);
		if (!known) throw { kind: "notFound", message: "This file no longer exists." } satisfies ApiError;
		return known;
	}
}
