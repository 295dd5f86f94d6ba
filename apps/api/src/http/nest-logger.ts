import type { Logger } from '#libs/domain/kernel';
import type { LoggerService } from '@nestjs/common';

/** Nest's own lines, at debug unless they warn: what the framework does is rarely news, and all of it is redacted. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(String(message), contextOf(rest));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(String(message), contextOf(rest));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.logger.debug(String(message), contextOf(rest));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.logger.warn(String(message), contextOf(rest));
  }

  error(message: unknown, ...rest: unknown[]): void {
    if (message instanceof Error) this.logger.error(message.message, { error: message, ...contextOf(rest) });
    else this.logger.error(String(message), contextOf(rest));
  }
}

/** Nest passes the class that speaks as the last argument, and a stack before it. */
const contextOf = (rest: readonly unknown[]): Record<string, unknown> => {
  const texts = rest.filter((part): part is string => typeof part === 'string');
  const context = texts.at(-1);
  const stack = texts.length > 1 ? texts[0] : undefined;
  return { ...(context === undefined ? {} : { context }), ...(stack === undefined ? {} : { stack }) };
};
