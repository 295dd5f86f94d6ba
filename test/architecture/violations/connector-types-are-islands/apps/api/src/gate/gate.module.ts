import { rest } from '#libs/domain/connectors/rest';

export const used = [rest];
