import type { Logger } from '#libs/domain/kernel';

const ignore = (): void => undefined;

/** For what is not about its log. */
export const silentLogger: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore };
