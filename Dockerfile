# The service as an image: `docker build -t ludotheque .`
# By itself it keeps its games in the embedded Valkey, in the volume /data; with REDIS_URL, it
# writes nothing but to /dev/shm and /tmp, so its root may be read-only.

FROM python:3.14-slim-trixie AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
# The dependencies first: they change less often than the code.
COPY requirements.lock /src/
RUN /opt/venv/bin/pip install --require-hashes --requirement /src/requirements.lock
COPY pyproject.toml README.md LICENSE /src/
COPY api /src/api
COPY engine /src/engine
# api/web/pages/guide is a link to it.
COPY docs /src/docs
RUN /opt/venv/bin/pip install --no-deps /src && \
    /opt/venv/bin/pip uninstall --yes pip setuptools

FROM python:3.14-slim-trixie
RUN install -d -m 700 -o 10001 -g 10001 /data
COPY --from=build /opt/venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOST=0.0.0.0 \
    PORT=8000 \
    DATA_DIR=/data \
    LOG_FORMAT=json
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=6s --start-period=20s CMD ["ludotheque", "check"]
# gunicorn's master reaps what is orphaned, so it may be process 1.
ENTRYPOINT ["ludotheque"]
CMD ["serve"]
