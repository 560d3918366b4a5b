# docker build -t vit-str . && docker run --rm -p 8000:8000 --read-only --tmpfs /tmp vit-str
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY vit_str vit_str
RUN python -m venv /opt/vit-str && /opt/vit-str/bin/pip install --no-cache-dir ".[serve,photo]"

FROM python:3.12-slim
COPY --from=build /opt/vit-str /opt/vit-str
RUN useradd --system --no-create-home vit-str
USER vit-str
ENV PATH=/opt/vit-str/bin:$PATH PYTHONDONTWRITEBYTECODE=1
EXPOSE 8000
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s CMD ["python", "-c", \
    "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
ENTRYPOINT ["vit-str", "serve"]
CMD ["--host", "0.0.0.0"]
