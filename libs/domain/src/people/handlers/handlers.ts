import { ChangeMemberHandler, RemoveMemberHandler } from './change-member.handler.js';
import { RegisterPasskeyHandler, RemovePasskeyHandler } from './change-passkeys.handler.js';
import { InviteMemberHandler } from './invite-member.handler.js';
import { UpdateOrganizationHandler } from './update-organization.handler.js';

/** Each stands on Members alone. */
export const MEMBER_HANDLERS = [
  InviteMemberHandler,
  ChangeMemberHandler,
  RemoveMemberHandler,
  UpdateOrganizationHandler,
] as const;

/** Each stands on Passkeys alone. */
export const PASSKEY_HANDLERS = [RegisterPasskeyHandler, RemovePasskeyHandler] as const;
