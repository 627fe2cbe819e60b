import type { Background } from "../../src/lib/api/generated";

/** Sprites and backgrounds of the scripted engine. Nobody has sprites unless a scene turns them on. */
export class MockScenery {
	/** Characters with pictures of emotions. */
	drawn: string[] = [];
	backgrounds: Background[] = [
		{ picture: "c3", name: "archive.png", darkest: 0, lightest: 1 },
		{ picture: "c2", name: "A very long name of a background that does not fit.jpg", darkest: 0.1, lightest: 0.9 },
	];

	op_sprites = ({ character }: { character: string }) => (this.drawn.includes(character) ? [{ id: "1-f", emotion: "joy", name: "joy" }, { id: "2-f", emotion: "neutral", name: "neutral" }] : []);
	op_sprite = ({ emotion }: { emotion: string }) => (emotion === "joy" ? "c2" : "c4");
	op_card_picture = ({ name }: { name: string }) => (name === "harbour" ? "c1" : null);
	op_list_backgrounds = () => this.backgrounds;
	op_add_background = ({ name }: { name: string }) => {
		const added = { picture: "c5", name, darkest: 0, lightest: 1 };
		this.backgrounds = [...this.backgrounds, added];
		return added;
	};
	op_remove_background = ({ picture }: { picture: string }) => {
		this.backgrounds = this.backgrounds.filter((one) => one.picture !== picture);
		return null;
	};
}
