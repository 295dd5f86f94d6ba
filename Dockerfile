# One image for every program of the service; docker-compose.yml starts apps/standalone from it.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-fund --no-audit
COPY . .
# The embedded PostgreSQL, an optional package, is for machines without one: an image is started with DATABASE_URL.
RUN npm run build && npm prune --omit=dev --omit=optional --no-fund --no-audit

FROM node:22-bookworm-slim
ENV NODE_ENV=production SERVICE_HOST=0.0.0.0 SERVICE_PORT=8080 SERVICE_STATE_DIR=/var/lib/ags
# `npm run ags -- ...` is the command line here too; npm itself asks nobody, and writes nothing but, by version 11, an
# empty folder for its cache, which lies where a read-only container can have it.
ENV npm_config_logs_max=0 npm_config_update_notifier=false npm_config_cache=/tmp/npm
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Read as they stand in the repository: the compiler copies nothing but code.
COPY --from=build /app/apps/api/src/pages/sign-in/files ./apps/api/src/pages/sign-in/files
COPY --from=build /app/apps/console/src/design/tokens.css ./apps/console/src/design/
# Keys live here, and nothing else is ever written.
RUN install -d -m 0700 -o node -g node /var/lib/ags
VOLUME /var/lib/ags
USER node
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.SERVICE_PORT}/v1/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["sh", "scripts/serve.sh", "standalone"]
