/** Ends the reading of a statement. Its message is the sentence that the caller is answered with. */
export class Refusal extends Error {}

/** What a statement may not hold, and what to send instead. */
export const refusal = (part: string, advice: string): Refusal =>
  new Refusal(`A statement may not ${part}. ${advice}.`);
