/**
 * A fault whose message says all: what failed, and what to do where somebody must act. Where in the program it was met
 * adds nothing.
 */
export abstract class ForeseenFault extends Error {}
