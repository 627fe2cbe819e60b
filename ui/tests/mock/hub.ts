import type { AddedModels, ApiError, Download, DownloadState, Event, FitReport, HubFile, HubModel, HubRepository, HubSearch, HubSettings, Model, ModelMove, ModelSpeed, MoveState, OtherAppModels, SuggestedModel } from "../../src/lib/api/generated";

const GB = 1e9;
const FREE = 11.2 * GB;
const PAGE = "https://huggingface.co/";

/** Bytes of weights that this computer reads each second. */
const SPEED = 40 * GB;

/** Words per minute of a model that reads so many bytes for each token. */
const words = (bytes: number): number => Number(((SPEED / bytes) * 45).toPrecision(2));

const suggestion = (id: string, name: string, billions: number, bytes: number, rest: Partial<SuggestedModel>): SuggestedModel => ({
	id, name, billions, activeBillions: null, bytes, repo: `library/${id}-GGUF`, licence: "Apache-2.0", licenceUrl: "https://www.apache.org/licenses/LICENSE-2.0", hasTerms: false, languages: ["en", "de", "fr", "es"],
	goodAt: ["everyday"], notes: ["chatml"], quantisation: "Q4_K_M", fits: "yes", tokensPerSecond: SPEED / bytes, wordsPerMinute: words(bytes), speedIsMeasured: false, isQuick: SPEED / bytes >= 7, best: false, installed: false, page: `${PAGE}library/${id}-GGUF`, ...rest,
});

const SUGGESTIONS = [
	suggestion("qwen3-8b", "Qwen3 8B", 8.19, 5.02 * GB, { best: true, goodAt: ["reasoning", "languages"], notes: ["chatml", "thinks"] }),
	suggestion("llama-3.2-1b", "Llama 3.2 1B Instruct", 1.24, 1.32 * GB, { quantisation: "Q8_0", licence: "Llama 3.2 Community License", licenceUrl: "https://www.llama.com/llama3_2/license/", hasTerms: true, goodAt: ["lowMemory", "everyday"], notes: ["llama3"] }),
	suggestion("granite-3.3-2b", "Granite 3.3 2B Instruct", 2.53, 1.55 * GB, { goodAt: ["instructions", "languages"], notes: ["granite"] }),
	suggestion("gemma-3-4b", "Gemma 3 4B Instruct", 3.88, 2.38 * GB, { licence: "Gemma Terms of Use", licenceUrl: "https://ai.google.dev/gemma/terms", hasTerms: true, goodAt: ["stories", "languages", "pictures"], notes: ["gemma", "noSystem"] }),
	suggestion("granite-4-tiny", "Granite 4.0 H Tiny", 6.94, 4.25 * GB, { activeBillions: 1, goodAt: ["quick", "instructions", "languages"], notes: ["granite"] }),
	suggestion("mistral-7b", "Mistral 7B Instruct v0.3", 7.25, 4.44 * GB, { languages: ["en"], goodAt: ["everyday", "stories"], notes: ["mistral"] }),
	suggestion("mistral-nemo-12b", "Mistral Nemo 12B Instruct", 12.25, 7.5 * GB, { fits: "tight", goodAt: ["stories", "everyday"], notes: ["mistral"] }),
	suggestion("mistral-small-24b", "Mistral Small 24B Instruct", 23.57, 14.4 * GB, { fits: "no", goodAt: ["stories", "everyday"], notes: ["mistral"] }),
];

const found = (repo: string, rest: Partial<HubModel> = {}): HubModel => ({ repo, downloads: 184_203, likes: 240, gated: false, licence: "apache-2.0", languages: ["en"], updated: "2026-07-14", page: PAGE + repo, ...rest });

const FOUND = [
	found("Qwen/Qwen3-4B-GGUF", { downloads: 1_204_551 }),
	found("meta/Llama-3.2-3B-Instruct-GGUF", { gated: true, licence: "llama3.2" }),
	found("someone/A-very-long-name-of-a-merged-model-with-many-words-12B-i1-GGUF", { licence: null, downloads: 12 }),
];

const file = (name: string, bytes: number | null, rest: Partial<HubFile> = {}): HubFile => ({ path: name, parts: 1, bytes, sha256: "7c1a10d202d8788dbe5628dc962254d10654c853cae6aaeca0618f05490d4a46", quantisation: /Q\d\w*|F16/.exec(name)?.[0] ?? null, fits: bytes === null ? null : bytes > 9 * GB ? "no" : bytes > 6 * GB ? "tight" : "yes", installed: false, ...rest });

/** The hub, the catalogue and the downloads of the scripted engine. A test advances the downloads step by step. */
export class MockHub {
	downloads: Download[] = [];
	moves: ModelMove[] = [];
	others: OtherAppModels[] = [{ app: "LM Studio", folder: "/home/sam/.lmstudio/models", models: ["Qwen3-4B-Q4_K_M", "gemma-3-12b-it-Q4_K_M"], bytes: 9.8 * GB }];
	settings: HubSettings = { address: "https://huggingface.co", addressIsFixed: false, hasToken: false, tokenIsForSession: false, folders: ["/media/models"], downloadFolder: "/home/sam/.local/share/inglenook/models" };
	hint = false;
	/** If set, the hub answers with this error. */
	failure: ApiError | null = null;
	#next = 1;

	constructor(private readonly host: { models: Model[]; settings: { defaultModel?: unknown }; emit: (event: Event) => void }) {}

	/** Brings a download to `fraction` of its size, or into another state. */
	reach(fraction: number, state: DownloadState = "running", reason = "", hint = ""): void {
		const [first] = this.downloads;
		if (!first) return;
		const done = Math.round(fraction * (first.total ?? 0));
		const running = state === "running";
		Object.assign(first, { done, state, reason, hint, speed: running ? 12_400_000 : null, secondsLeft: running ? Math.round(((first.total ?? 0) - done) / 12_400_000) : null, retryIn: state === "waiting" ? 4 : null });
		this.host.emit({ event: "downloading", download: structuredClone(first) });
	}

	/** Completes the first download. */
	finish(): void {
		const [first] = this.downloads.splice(0, 1);
		if (!first) return;
		const id = `m-${first.id}`;
		for (const model of this.host.models) model.default &&= !first.makesDefault;
		this.host.models.push({ id, name: first.file.replace(".gguf", ""), path: `${this.settings.downloadFolder}/${first.repo}/${first.file}`, bytes: first.total, sha256: "7c1a10d2", architecture: "qwen3", context: 32_768, fits: "yes", missing: false, note: null, default: first.makesDefault, readsPictures: false });
		this.host.emit({ event: "changed", what: "models", id });
		this.host.emit({ event: "downloadEnded", id: first.id, name: first.file, model: id, makesDefault: first.makesDefault });
	}

	/** Brings the move of a model to `fraction` of its size, or into another state. */
	moveTo(model: string, fraction: number, state: MoveState = "copying", reason = "", hint = ""): void {
		const move = this.moves.find((one) => one.model === model);
		if (!move) return;
		Object.assign(move, { done: Math.round(fraction * (move.total ?? 0)), state, reason, hint });
		this.host.emit({ event: "modelMoving", moving: structuredClone(move) });
	}

	/** Completes the move of a model. */
	finishMove(id: string): void {
		const move = this.#takeMove(id);
		const model = this.host.models.find((one) => one.id === id);
		if (!move || !model) return;
		model.path = `${move.folder}/${model.path.split("/").at(-1)}`;
		this.host.emit({ event: "changed", what: "models", id });
		this.host.emit({ event: "modelMoveEnded", model: id, name: move.name, folder: move.folder, moved: true });
	}

	op_list_model_moves = () => this.moves;

	op_move_model = ({ id, folder }: { id: string; folder: string }): ModelMove => {
		const model = this.host.models.find((one) => one.id === id);
		if (!model) throw { kind: "notFound", message: "This model no longer exists." } satisfies ApiError;
		const move: ModelMove = { model: id, name: model.name, folder: folder || this.settings.downloadFolder, state: "queued", done: 0, total: model.bytes, reason: "", hint: "" };
		this.moves = [...this.moves.filter((one) => one.model !== id), move];
		this.host.emit({ event: "modelMoving", moving: structuredClone(move) });
		return move;
	};

	op_move_models_of_folder = ({ from, folder }: { from: string; folder: string }): ModelMove[] => this.host.models.filter(({ path }) => path.startsWith(from)).map(({ id }) => this.op_move_model({ id, folder }));

	op_cancel_model_move = ({ id }: { id: string }): void => {
		const move = this.#takeMove(id);
		if (move) this.host.emit({ event: "modelMoveEnded", model: id, name: move.name, folder: move.folder, moved: false });
	};

	#takeMove(id: string): ModelMove | undefined {
		const move = this.moves.find((one) => one.model === id);
		this.moves = this.moves.filter((one) => one.model !== id);
		return move;
	}

	op_list_downloads = () => this.downloads;
	op_hints_at_larger_model = () => this.hint && this.downloads.length === 0;
	op_dismiss_larger_model_hint = () => void (this.hint = false);
	op_suggested_models = () => SUGGESTIONS.map((model) => ({ ...model, installed: this.host.models.some(({ path }) => path.includes(model.repo)) }));
	op_model_speeds = (): ModelSpeed[] => this.host.models.map(({ id, bytes }, at) => ({ model: id, tokensPerSecond: SPEED / (bytes ?? GB), wordsPerMinute: words(bytes ?? GB), isMeasured: at === 0 }));
	op_find_other_models = () => this.others;
	op_hub_settings = () => this.settings;

	op_set_hub_address = ({ address }: { address: string }): HubSettings => {
		if (address !== "" && !address.startsWith("https://")) throw { kind: "badInput", message: `cannot download from ${address}: it must begin with https://`, hint: "Copy the file's own address." } satisfies ApiError;
		return (this.settings = { ...this.settings, address: address || "https://huggingface.co" });
	};

	op_set_hub_token = ({ token }: { token: string }): HubSettings => (this.settings = { ...this.settings, hasToken: token !== "" });
	op_forget_model_folder = ({ folder }: { folder: string }): HubSettings => (this.settings = { ...this.settings, folders: this.settings.folders.filter((known) => known !== folder) });
	op_set_download_folder = ({ folder }: { folder: string }): HubSettings => (this.settings = { ...this.settings, downloadFolder: folder || "/home/sam/.local/share/inglenook/models" });

	op_search_hub = ({ query, page }: { query: string; page: string | null }): HubSearch => {
		if (this.failure) throw this.failure;
		if (query === "nothing") return { models: [], next: null };
		return page === null ? { models: FOUND, next: "more" } : { models: [found("last/One-GGUF")], next: null };
	};

	op_hub_files = ({ repo }: { repo: string }): HubRepository => {
		if (this.failure) throw this.failure;
		const model = FOUND.find((one) => one.repo === repo) ?? found(repo);
		const name = repo.split("/")[1]?.replace("-GGUF", "") ?? "";
		return {
			model,
			files: [file(`${name}-Q3_K_M.gguf`, 2.1 * GB), file(`${name}-Q4_K_M.gguf`, 2.5 * GB), file(`${name}-Q8_0.gguf`, 4.3 * GB), file(`${name}-F16-00001-of-00002.gguf`, 9.4 * GB, { parts: 2, sha256: null })],
			projectors: [file(`mmproj-${name}-F16.gguf`, 0.85 * GB)],
			recommended: `${name}-Q4_K_M.gguf`,
		};
	};

	op_hub_fit = ({ path, context }: { path: string; context: number | null }): FitReport => {
		const weights = path.includes("F16") ? 9.4 * GB : path.includes("Q8") ? 4.3 * GB : 2.5 * GB;
		const size = context ?? 8192;
		const [cache, working] = [size * 147_456, 67_108_864 + weights / 20];
		const needed = weights + cache + working;
		return { fits: needed > FREE ? "no" : needed > FREE * 0.8 ? "tight" : "yes", weights, cache, working, needed, available: FREE, graphics: { layers: 29, processorExperts: 0, of: 37, devices: ["AMD Radeon RX 7600"], free: 7_400_000_000 }, context: size, trainedContext: 32_768, largestContext: Math.min(32_768, Math.floor((FREE - weights - working) / 147_456 / 256) * 256), architecture: "qwen3", parameters: 4_022_468_096, hasTemplate: true, wordsPerMinute: words(weights) };
	};

	op_download_suggestion = ({ id }: { id: string }): Download => {
		if (this.failure) throw this.failure;
		const model = SUGGESTIONS.find((one) => one.id === id);
		return this.#start(model?.repo ?? "", `${model?.name.replaceAll(" ", "-")}-${model?.quantisation}.gguf`, model?.bytes ?? 0, model?.licence ?? null, true);
	};

	op_start_download = ({ repo, path, makesDefault }: { repo: string; path: string; makesDefault: boolean }): Download => this.#start(repo, path, 2.5 * GB, "apache-2.0", makesDefault);

	#start(repo: string, name: string, total: number, licence: string | null, makesDefault: boolean): Download {
		const download: Download = { id: `d${this.#next++}`, repo, file: name, licence, state: "queued", done: 0, total, speed: null, secondsLeft: null, reason: "", hint: "", retryIn: null, makesDefault };
		this.downloads.push(download);
		return download;
	}

	#set(id: string, state: DownloadState): Download {
		const download = this.downloads.find((one) => one.id === id);
		if (!download) throw { kind: "notFound", message: "This download no longer exists." } satisfies ApiError;
		return Object.assign(download, { state, speed: null, secondsLeft: null, reason: "", hint: "", retryIn: null });
	}

	op_pause_download = ({ id }: { id: string }) => this.#set(id, "paused");
	op_resume_download = ({ id }: { id: string }) => this.#set(id, "queued");

	op_cancel_download = ({ id }: { id: string }): void => {
		const at = this.downloads.findIndex((one) => one.id === id);
		const [gone] = this.downloads.splice(at, 1);
		if (gone) this.host.emit({ event: "downloadEnded", id, name: gone.file, model: null, makesDefault: gone.makesDefault });
	};

	op_add_other_models = ({ app }: { app: string }): AddedModels => {
		const added = this.others.filter((other) => other.app === app).flatMap((other) => other.models);
		this.others = this.others.filter((other) => other.app !== app);
		return { added, refused: [] };
	};
}
