import { DomainError } from '#libs/domain/kernel';

/**
 * Ends the wait for a handler that runs past its route's time. The handler is not interrupted: its work may have partly
 * run, which is what the code says. Nobody hears what it still answers.
 * @throws {DomainError} timeout
 */
export const withinTime = <Value>(limitMs: number, work: Promise<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DomainError('timeout')), limitMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
