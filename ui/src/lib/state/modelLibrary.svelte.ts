import { asApiError } from "../api/errors";
import type { ApiError, Download, FitReport, HubModel, HubRepository, HubSettings, ModelSpeed, OtherAppModels, SuggestedModel } from "../api/generated";
import type { Api } from "./api";

interface Callbacks {
	/** Runs an action and shows an error as a toast. */
	attempt(action: () => Promise<unknown>): Promise<void>;
}

/** Models that are not on this computer yet: suggestions, the hub, other apps, and downloads. */
export class ModelLibrary {
	downloads = $state.raw<Download[]>([]);
	suggestions = $state.raw<SuggestedModel[]>([]);
	/** Speeds of the models on this computer, as far as they are known. */
	speeds = $state.raw<ModelSpeed[]>([]);
	/** The suggestions have been loaded, or could not be. */
	loaded = $state(false);
	others = $state.raw<OtherAppModels[]>([]);
	settings = $state.raw<HubSettings | null>(null);
	/** Whether to say under the composer that a larger model talks better. */
	hint = $state(false);
	readonly search: HubSearchState;
	/** The model of the hub whose files are shown. */
	repository = $state.raw<HubFilesState | null>(null);
	/** Ids of suggestions whose download is being prepared. */
	preparing = $state.raw<readonly string[]>([]);
	/** Number of events so far. */
	#events = 0;

	constructor(
		private readonly api: Api,
		private readonly callbacks: Callbacks,
	) {
		this.search = new HubSearchState(api);
	}

	/** Loads what every screen needs. */
	async load(): Promise<void> {
		const events = this.#events;
		const [downloads, hint] = await Promise.all([this.api.listDownloads(), this.api.hintsAtLargerModel()]);
		// An event that came meanwhile is newer than the answer.
		if (events !== this.#events) return this.load();
		[this.downloads, this.hint] = [downloads, hint];
	}

	/** Loads what the models screen needs. */
	async loadScreen(): Promise<void> {
		await Promise.all([this.#loadSuggestions(), this.#loadSources()]);
	}

	/** Other models are installed, or their speed has changed. */
	async modelsChanged(): Promise<void> {
		if (this.loaded) await this.callbacks.attempt(() => this.#loadSuggestions());
	}

	/** The first suggestions measure the computer for about a second, which also gives the speeds. */
	async #loadSuggestions(): Promise<void> {
		try {
			this.suggestions = await this.api.suggestedModels();
		} finally {
			this.loaded = true;
		}
		this.speeds = await this.api.modelSpeeds();
	}

	async #loadSources(): Promise<void> {
		[this.others, this.settings] = await Promise.all([this.api.findOtherModels(), this.api.hubSettings()]);
	}

	/** Applies an event. */
	update(download: Download): void {
		this.#events += 1;
		const known = this.downloads.findIndex(({ id }) => id === download.id);
		this.downloads = known < 0 ? [...this.downloads, download] : this.downloads.with(known, download);
		this.hint = false;
	}

	ended(id: string): void {
		this.#events += 1;
		this.downloads = this.downloads.filter((download) => download.id !== id);
		void this.refreshHint();
	}

	refreshHint = (): Promise<void> => this.callbacks.attempt(async () => (this.hint = await this.api.hintsAtLargerModel()));

	dismissHint = async (): Promise<void> => {
		this.hint = false;
		await this.callbacks.attempt(() => this.api.dismissLargerModelHint());
	};

	/** The download of a model that is suggested or found, if one is under way. */
	downloading(repo: string): Download | undefined {
		return this.downloads.find((download) => download.repo === repo);
	}

	downloadSuggestion = async (model: SuggestedModel): Promise<void> => {
		this.preparing = [...this.preparing, model.id];
		await this.callbacks.attempt(async () => {
			try {
				this.update(await this.api.downloadSuggestion(model.id));
			} catch (error) {
				// The hub no longer has the suggested file, so the user chooses another one.
				if (asApiError(error).kind === "badInput") this.show(model.repo);
				throw error;
			}
		});
		this.preparing = this.preparing.filter((id) => id !== model.id);
	};

	pause = (id: string): Promise<void> => this.callbacks.attempt(async () => this.update(await this.api.pauseDownload(id)));

	resume = (id: string): Promise<void> => this.callbacks.attempt(async () => this.update(await this.api.resumeDownload(id)));

	cancel = (id: string): Promise<void> => this.callbacks.attempt(() => this.api.cancelDownload(id));

	/** Shows the files of a model of the hub. */
	show(repo: string): void {
		this.repository = new HubFilesState(this.api, repo);
		void this.repository.load();
	}

	close = (): void => void (this.repository = null);

	/** Downloads the chosen file and closes the dialog. */
	downloadChosen = async (): Promise<void> => {
		const shown = this.repository;
		if (!shown?.path) return;
		const projector = shown.pictures ? (shown.all?.projectors[0]?.path ?? null) : null;
		await this.callbacks.attempt(async () => {
			this.update(await this.api.startDownload(shown.repo, shown.path, projector, true));
			this.close();
		});
	};

	addOthers = (app: string, added: (names: string[], refused: string[]) => void): Promise<void> =>
		this.callbacks.attempt(async () => {
			const result = await this.api.addOtherModels(app);
			added(result.added, result.refused);
			this.others = await this.api.findOtherModels();
		});
}

/** A search on the hub. */
export class HubSearchState {
	query = $state("");
	models = $state.raw<HubModel[] | null>(null);
	next = $state.raw<string | null>(null);
	searching = $state(false);
	failure = $state.raw<ApiError | null>(null);
	#asked = 0;

	constructor(private readonly api: Api) {}

	find = (): Promise<void> => this.#load(null);

	more = (): Promise<void> => this.#load(this.next);

	async #load(page: string | null): Promise<void> {
		const query = this.query.trim();
		if (query === "") return;
		const asked = ++this.#asked;
		[this.searching, this.failure] = [true, null];
		try {
			const found = await this.api.searchHub(query, page);
			if (asked !== this.#asked) return;
			const known = page === null ? [] : (this.models ?? []);
			const fresh = found.models.filter(({ repo }) => known.every((model) => model.repo !== repo));
			[this.models, this.next] = [[...known, ...fresh], found.next];
		} catch (thrown) {
			if (asked === this.#asked) this.failure = asApiError(thrown);
		}
		if (asked === this.#asked) this.searching = false;
	}
}

/** The files of a model of the hub, and the memory that the chosen one needs. */
export class HubFilesState {
	all = $state.raw<HubRepository | null>(null);
	failure = $state.raw<ApiError | null>(null);
	/** Path of the chosen file. */
	path = $state("");
	/** Also download the file that lets the model read pictures. */
	pictures = $state(false);
	fit = $state.raw<FitReport | null>(null);
	fitFailure = $state.raw<ApiError | null>(null);
	measuring = $state(false);
	#asked = 0;

	constructor(
		private readonly api: Api,
		readonly repo: string,
	) {}

	async load(): Promise<void> {
		this.failure = null;
		try {
			this.all = await this.api.hubFiles(this.repo);
			const chosen = this.all.recommended ?? this.all.files[0]?.path;
			if (chosen) await this.choose(chosen);
		} catch (thrown) {
			this.failure = asApiError(thrown);
		}
	}

	/** Chooses a file and reads its header on the hub. */
	choose = async (path: string, context: number | null = null): Promise<void> => {
		const asked = ++this.#asked;
		if (path !== this.path) this.fit = null;
		[this.path, this.fitFailure, this.measuring] = [path, null, true];
		try {
			const fit = await this.api.hubFit(this.repo, path, context);
			if (asked === this.#asked) this.fit = fit;
		} catch (thrown) {
			if (asked === this.#asked) [this.fit, this.fitFailure] = [null, asApiError(thrown)];
		}
		if (asked === this.#asked) this.measuring = false;
	};
}
