/**
 * An error whose message says everything: what failed, and what an operator has to do, if anything. A stack trace would
 * add nothing.
 */
export abstract class ForeseenFault extends Error {}
