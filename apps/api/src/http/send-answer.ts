import type { FastifyReply } from 'fastify';
import type { Answer } from './error-answers.js';

export const sendAnswer = (reply: FastifyReply, answer: Answer): void => {
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
};
