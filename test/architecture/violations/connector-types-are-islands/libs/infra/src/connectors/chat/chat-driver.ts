import { chat } from '#libs/domain/connectors/chat';
import { rest } from '#libs/domain/connectors/rest';

export const used = [chat, rest];
