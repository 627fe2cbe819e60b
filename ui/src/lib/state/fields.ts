import type { CharacterFields } from "../api/generated";

/** Fields of a card that hold one text. */
export type TextField = { [K in keyof CharacterFields]: CharacterFields[K] extends string ? K : never }[keyof CharacterFields];
