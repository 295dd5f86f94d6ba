import { DomainError, parseId, type WebhookId } from '#libs/domain/kernel';

/** `{id}` of a path. @throws {DomainError} not_found */
export const webhookId = (text: string): WebhookId => {
  const id = parseId('whk', text);
  if (!id) throw new DomainError('not_found');
  return id;
};
