import type { ImportReport } from "../../src/lib/api/generated";
import type { Drops } from "../../src/lib/api/transport";
import { MockAccess } from "./access";

/** The shell of the scripted engine: dialogs that are answered at once, and records of what the page asked for. */
export class MockShell extends MockAccess {
	readonly addsModelFiles = true;
	readonly importsFolders = true;
	readonly desktop = true;
	drops: Drops | null = null;
	/** Addresses that were opened. */
	readonly opened: string[] = [];
	/** Zoom factors that were set. */
	readonly zooms: number[] = [];
	setZoom = async (factor: number) => void this.zooms.push(factor);
	readonly assetBase = null;
	openLink = async (address: string) => void this.opened.push(address);
	exportArchive = async () => "/home/sam/Documents/Inglenook backup.zip";
	importArchive = async () => null;
	openBackups = async () => {};
	openDataFolder = async () => {};
	/** Answers of the page to files from other programs. */
	answered: { accept: boolean; shown: number }[] = [];
	/** Notifications that the page asked for. */
	notified: { title: string; text: string }[] = [];
	offer: (paths: string[]) => void = () => {};
	watchClosing = () => () => {};
	/** The picture in the clipboard. */
	clipboard: string | null = null;
	clipboardPicture = async (): Promise<string | null> => this.clipboard;
	watchOpenings(listener: (paths: string[]) => void): () => void {
		this.offer = listener;
		return () => {};
	}
	answerOpenings = async (accept: boolean, shown: number) => {
		this.answered.push({ accept, shown });
		this.offer([]);
	};
	notify = async (title: string, text: string) => void this.notified.push({ title, text });
	restart = async () => {};
	pickChats = async () => null;
	savedTheme = "";
	saveTheme = async (theme: string) => ((this.savedTheme = theme), "/home/sam/Documents/Inglenook theme.json");
	saveReport = async () => "/home/sam/Documents/Import report.txt";
	exportCharacters = async () => "/home/sam/Documents/cards";
	exportChats = async () => "/home/sam/Documents/chats";
	exportChat = async () => "/home/sam/Documents/Mira.jsonl";
	pickModel = async () => null;
	pickModelFolder = async () => null;
	exportCharacter = async () => "/home/sam/Downloads/mira.png";
	exportMemories = async () => "/home/sam/Downloads/Mira-memories.json";
	exportPromptFile = async () => "/home/sam/Downloads/stars.json";
	exportLorebook = async () => "/home/sam/Downloads/the-hill-town.json";
	importFiles = async (files: File[]): Promise<ImportReport> => ({ imported: [], skipped: [], cancelled: false, choices: [], refused: files.map((file) => ({ file: file.name, kind: "noCard", reason: "The picture holds no card." })) });

	watchDrops(drops: Drops): () => void {
		this.drops = drops;
		return () => {};
	}
}
