import type { Background, ChatBackground } from "../../src/lib/api/generated";
import type { MockEngine } from "./engine";

/** Sprites and backgrounds of the scripted engine. Nobody has sprites unless a scene turns them on. */
export class MockScenery {
	/** Characters with pictures of emotions. */
	drawn: string[] = [];
	backgrounds: Background[] = [
		{ picture: "c3", name: "archive.png", darkest: 0, lightest: 1, sceneWords: "" },
		{ picture: "c2", name: "A very long name of a background that does not fit.jpg", darkest: 0.1, lightest: 0.9, sceneWords: "tavern, inn" },
	];

	constructor(private readonly engine: MockEngine) {}

	op_sprites = ({ character }: { character: string }) => (this.drawn.includes(character) ? [{ id: "1-f", emotion: "joy", name: "joy" }, { id: "2-f", emotion: "neutral", name: "neutral" }] : []);
	op_sprite = ({ emotion }: { emotion: string }) => (emotion === "joy" ? "c2" : "c4");
	op_card_picture = ({ name }: { name: string }) => (name === "harbour" ? "c1" : null);
	op_list_backgrounds = () => this.backgrounds;
	op_add_background = ({ name }: { name: string }) => {
		const added = { picture: "c5", name, darkest: 0, lightest: 1, sceneWords: "" };
		this.backgrounds = [...this.backgrounds, added];
		return added;
	};
	op_set_scene_words = ({ picture, words }: { picture: string; words: string }) => {
		const sceneWords = [...new Set(listed(words))].join(", ");
		this.backgrounds = this.backgrounds.map((one) => (one.picture === picture ? { ...one, sceneWords } : one));
		return this.backgrounds.find((one) => one.picture === picture);
	};
	/** The own background of the chat, else that of the narrator's last message. The real engine decides better. */
	op_chat_background = ({ chat: id }: { chat: string }): ChatBackground | null => {
		const setting = this.engine.layered.of({ scope: "chat", id }).settings.find(({ key }) => key === "background");
		const scene = this.engine.chat(id).messages.findLast(({ role }) => role === "narrator")?.swipes[0]?.text.toLowerCase() ?? "";
		if (setting?.origin !== "chat") {
			for (const background of this.backgrounds) {
				const sceneWord = listed(background.sceneWords).find((word) => scene.includes(word.toLowerCase()));
				if (sceneWord) return { background, sceneWord };
			}
		}
		const background = this.backgrounds.find(({ picture }) => picture === setting?.value);
		return background ? { background, sceneWord: null } : null;
	};
	op_remove_background = ({ picture }: { picture: string }) => {
		this.backgrounds = this.backgrounds.filter((one) => one.picture !== picture);
		return null;
	};
}

const listed = (words: string): string[] => words.split(",").map((word) => word.trim()).filter((word) => word !== "");
