import { DomainError, webUrlFault } from '../kernel/index.js';

/**
 * Where an endpoint receives, exactly as it was written.
 * @throws {DomainError} validation_failed, param `url`. Whether the address may be reached is the egress door's to say
 */
export const checkedWebhookUrl = (text: string, isProduction: boolean): string => {
  const fault = webUrlFault(text, { isProduction, whyNoUser: 'deliveries are proved by their signature' });
  if (fault === null) return text;
  throw new DomainError('validation_failed', { param: 'url', message: `The field url ${fault}` });
};
